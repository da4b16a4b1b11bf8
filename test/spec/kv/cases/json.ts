import type { KvCase } from '../../../support/kv-case.js';

export const JSON_CASES: readonly KvCase[] = [];
