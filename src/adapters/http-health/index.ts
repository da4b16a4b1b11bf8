export * from './health-server.js';
export * from './until-ready.js';
