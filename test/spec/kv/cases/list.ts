import type { KvCase } from '../../../support/kv-case.js';

export const LIST_CASES: readonly KvCase[] = [];
