"""The pages of `trickle run --web`: read from the registry without Spark, shown by any browser without internet."""
