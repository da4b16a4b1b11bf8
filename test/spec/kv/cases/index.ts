/** Every case there is; the differential tests send them to real servers too. */
import type { KvCase } from '../../../support/kv-case.js';
import { ACL_CASES } from './acl.js';
import { ARRAY_CASES } from './array.js';
import { BITMAP_CASES } from './bitmap.js';
import { CLUSTER_CASES } from './cluster.js';
import { CONNECTION_CASES } from './connection.js';
import { FUNCTIONS_CASES } from './function.js';
import { GENERIC_CASES } from './generic.js';
import { GENERIC_COLLECTION_CASES } from './generic-collections.js';
import { GEO_CASES } from './geo.js';
import { HASH_CASES } from './hash.js';
import { HYPERLOGLOG_CASES } from './hyperloglog.js';
import { JSON_CASES } from './json.js';
import { LIST_CASES } from './list.js';
import { QUEUE_CASES } from './queue.js';
import { SCRIPTING_CASES } from './scripting.js';
import { SEARCH_CASES } from './search.js';
import { SERVER_CASES } from './server.js';
import { SERVER_OPERATION_CASES } from './server-operations.js';
import { SET_CASES } from './set.js';
import { SKETCH_CASES } from './sketches.js';
import { SORTED_SET_CASES } from './sorted-set.js';
import { STREAM_CASES } from './stream.js';
import { STREAM_MESSAGE_CASES } from './stream-messages.js';
import { STRING_CHANGE_CASES } from './string-change.js';
import { STRING_GET_CASES } from './string-get.js';
import { STRING_SET_CASES } from './string-set.js';
import { VECTOR_CASES } from './vector.js';
import { VECTOR_SET_CASES } from './vector-set.js';

export {
  ARRAY_CASES,
  BITMAP_CASES,
  CONNECTION_CASES,
  GENERIC_CASES,
  GEO_CASES,
  HASH_CASES,
  HYPERLOGLOG_CASES,
  LIST_CASES,
  QUEUE_CASES,
  SERVER_CASES,
  SET_CASES,
  SKETCH_CASES,
  SORTED_SET_CASES,
  STREAM_CASES,
  STREAM_MESSAGE_CASES,
  STRING_CHANGE_CASES,
  STRING_GET_CASES,
  STRING_SET_CASES,
  VECTOR_CASES,
  VECTOR_SET_CASES,
};

export const ALL_CASES: readonly KvCase[] = [
  ...STRING_SET_CASES,
  ...STRING_GET_CASES,
  ...STRING_CHANGE_CASES,
  ...GENERIC_CASES,
  ...GENERIC_COLLECTION_CASES,
  ...CONNECTION_CASES,
  ...SERVER_CASES,
  ...SERVER_OPERATION_CASES,
  ...HASH_CASES,
  ...LIST_CASES,
  ...SET_CASES,
  ...SORTED_SET_CASES,
  ...GEO_CASES,
  ...BITMAP_CASES,
  ...HYPERLOGLOG_CASES,
  ...STREAM_CASES,
  ...STREAM_MESSAGE_CASES,
  ...SCRIPTING_CASES,
  ...FUNCTIONS_CASES,
  ...JSON_CASES,
  ...SEARCH_CASES,
  ...ARRAY_CASES,
  ...QUEUE_CASES,
  ...VECTOR_CASES,
  ...SKETCH_CASES,
  ...VECTOR_SET_CASES,
  ...CLUSTER_CASES,
  ...ACL_CASES,
];
