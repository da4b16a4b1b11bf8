import type { KvCase } from '../../../support/kv-case.js';

export const SET_CASES: readonly KvCase[] = [];
