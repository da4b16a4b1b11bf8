export { ScrapeGrants } from './scrape-grants.js';
export { createScrapeHandler, type ScrapeHandler } from './scrape-handler.js';
