import type { KvCase } from '../../../support/kv-case.js';

export const STREAM_CASES: readonly KvCase[] = [];
