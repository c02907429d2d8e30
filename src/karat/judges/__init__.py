"""Judge models: any HTTP endpoint that speaks the chat-completions shape, named in the server's settings."""
