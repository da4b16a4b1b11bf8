export { ScrapeGrants, type ScrapeView } from './scrape-grants.js';
export { createScrapeHandler, type ScrapeHandlerParts } from './scrape-handler.js';
