export { ScrapeGrants } from './scrape-grants.js';
export { createScrapeHandler } from './scrape-handler.js';
