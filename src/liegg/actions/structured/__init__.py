"""Actions with few candidates on large inputs."""
