"""The numpy engine: pandas tables on one machine, no JVM."""
