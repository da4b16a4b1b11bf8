import type { KvCase } from '../../../support/kv-case.js';

export const SORTED_SET_CASES: readonly KvCase[] = [];
