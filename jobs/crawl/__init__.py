"""Polite crawling on Scrapy: what is fetched, from where, how often, and how it is kept."""
