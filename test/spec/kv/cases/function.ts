import type { KvCase } from '../../../support/kv-case.js';

export const FUNCTIONS_CASES: readonly KvCase[] = [];
