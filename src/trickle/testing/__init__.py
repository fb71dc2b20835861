"""What tests are made of: other engines, servers, generators and judges, shipped for users of Trickle too."""
