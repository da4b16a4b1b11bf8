import type { KvCase } from '../../../support/kv-case.js';

export const HASH_CASES: readonly KvCase[] = [];
