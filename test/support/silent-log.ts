/** A log that drops its lines. */
import type { Log } from '../../src/ports/index.js';

export const silentLog: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => silentLog };
