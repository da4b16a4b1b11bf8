import type { Bench } from './figures.js'; export const restart: Bench = { name: 'restart', summary: '', run: async () => ({ figures: [], skipped: [] }) };
