import type { Bench } from './figures.js'; export const memory: Bench = { name: 'memory', summary: '', run: async () => ({ figures: [], skipped: [] }) };
