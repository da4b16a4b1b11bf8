/** Tools and prompts of the Model Context Protocol, for a process or for one person at a terminal. */
export { type ApiDoor, type ApiRequest, Calls } from './calls.js';
export { type ApiDocument, type Area, isArea, type Json, type Operation, operationsOf } from './operations.js';
export { serverOf } from './tool-server.js';
export { type CallCodes, Catalogue, Tools } from './tools.js';
