export * from './health-server.js';
