"""Methods that need rows: papers' baselines, library baselines, PRFS, PUFS, LGBM-OPT."""
