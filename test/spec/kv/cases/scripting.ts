import type { KvCase } from '../../../support/kv-case.js';

export const SCRIPTING_CASES: readonly KvCase[] = [];
