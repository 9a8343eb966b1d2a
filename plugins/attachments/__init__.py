"""Attachments: receipts and documents of expenses and trips."""
