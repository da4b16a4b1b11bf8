import type { KvCase } from '../../../support/kv-case.js';

export const ACL_CASES: readonly KvCase[] = [];
