"""Published experiments run again, each as a job that writes its table and its picture."""
