/** All families of Redis commands. */
import type { CommandSpec } from '../command-spec.js';
import { ACL } from './acl/index.js';
import { ARRAY } from './array/index.js';
import { BITMAP } from './bitmap/index.js';
import { BLOOM } from './bloom/index.js';
import { CLUSTER } from './cluster/index.js';
import { CONNECTION, PUBSUB, TRANSACTIONS } from './connection.js';
import { COUNT_MIN } from './count-min/index.js';
import { CUCKOO } from './cuckoo/index.js';
import { SEARCH_FAMILY } from './full-text/index.js';
import { FUNCTIONS } from './function/index.js';
import { GENERIC } from './generic/index.js';
import { GEO } from './geo/index.js';
import { HASH } from './hash/index.js';
import { HYPERLOGLOG } from './hyperloglog/index.js';
import { JSON_FAMILY } from './json/index.js';
import { LIST } from './list/index.js';
import { PUBLISH } from './publish.js';
import { QUEUE } from './queue.js';
import { SCRIPTING } from './scripting/index.js';
import { SERVER } from './server/index.js';
import { SET } from './set/index.js';
import { SORTED_SET } from './sorted-set/index.js';
import { STREAM } from './stream/index.js';
import { STRING } from './string/index.js';
import { T_DIGEST } from './t-digest/index.js';
import { TOP_K } from './top-k/index.js';
import { VECTOR } from './vector/index.js';
import { VECTOR_SET } from './vector-set/index.js';

export const FAMILIES: readonly (readonly CommandSpec[])[] = [
  STRING,
  GENERIC,
  CONNECTION,
  TRANSACTIONS,
  SERVER,
  PUBSUB,
  PUBLISH,
  HASH,
  LIST,
  SET,
  SORTED_SET,
  GEO,
  BITMAP,
  HYPERLOGLOG,
  STREAM,
  SCRIPTING,
  FUNCTIONS,
  JSON_FAMILY,
  ARRAY,
  QUEUE,
  VECTOR,
  VECTOR_SET,
  SEARCH_FAMILY,
  BLOOM,
  CUCKOO,
  COUNT_MIN,
  TOP_K,
  T_DIGEST,
  CLUSTER,
  ACL,
];
