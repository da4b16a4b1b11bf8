/** Every family of Redis commands there is. */
import type { CommandSpec } from '../command-spec.js';
import { CONNECTION } from './connection.js';
import { GENERIC } from './generic/index.js';
import { PUBSUB } from './pubsub.js';
import { SERVER } from './server.js';
import { STRING } from './string/index.js';
import { TRANSACTIONS } from './transactions.js';

export const FAMILIES: readonly (readonly CommandSpec[])[] = [
  STRING,
  GENERIC,
  CONNECTION,
  TRANSACTIONS,
  SERVER,
  PUBSUB,
];
