/** Every case there is; the differential tests send them to real servers too. */
import type { KvCase } from '../../../support/kv-case.js';
import { GENERIC_CASES } from './generic.js';
import { SERVER_CASES } from './server.js';
import { STRING_CHANGE_CASES } from './string-change.js';
import { STRING_GET_CASES } from './string-get.js';
import { STRING_SET_CASES } from './string-set.js';

export { GENERIC_CASES, SERVER_CASES, STRING_CHANGE_CASES, STRING_GET_CASES, STRING_SET_CASES };

export const ALL_CASES: readonly KvCase[] = [
  ...STRING_SET_CASES,
  ...STRING_GET_CASES,
  ...STRING_CHANGE_CASES,
  ...GENERIC_CASES,
  ...SERVER_CASES,
];
