import type { KvCase } from '../../../support/kv-case.js';

export const BITMAP_CASES: readonly KvCase[] = [];
