import type { Bench } from './figures.js'; export const stalls: Bench = { name: 'stalls', summary: '', run: async () => ({ figures: [], skipped: [] }) };
