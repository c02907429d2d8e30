"""What several readers marked in a document: majority, agreement, how much they find; and which documents to read."""
