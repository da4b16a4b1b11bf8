/** Tracing, if a collector is set. Its packages are loaded only then. */
import type { DependencyContainer } from 'tsyringe';
import { type Lifetime, VERSION } from '../adapters/node/index.js';
import { headersOfSetting } from '../config/index.js';
import * as tokens from './tokens.js';

/** Unsent spans are sent as the last step of a shutdown. */
export async function startTracing(c: DependencyContainer, life: Lifetime): Promise<void> {
  const { otlpEndpoint: endpoint, otlpHeaders, traceRatio: ratio } = c.resolve(tokens.CONFIG).tracing;
  if (endpoint === undefined) {
    c.registerInstance(tokens.TRACING, {});
    return;
  }
  const { OtlpTracing } = await import('../adapters/otlp/index.js');
  const ports = { log: c.resolve(tokens.LOG), metrics: c.resolve(tokens.METRICS), timers: c.resolve(tokens.TIMERS) };
  const headers = headersOfSetting(otlpHeaders);
  const tracing = new OtlpTracing(ports, { endpoint, headers, ratio, version: VERSION });
  life.atEnd(() => tracing.close());
  c.registerInstance(tokens.TRACING, { tracing });
}
