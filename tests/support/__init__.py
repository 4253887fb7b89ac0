"""What tests share: models, adapters, programs and guards. Knows no behaviour of the agent."""
