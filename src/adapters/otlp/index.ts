/** Traces for a collector that takes OTLP. Loaded where one is set, and nowhere else. */
export { OtlpTracing } from './otlp-tracing.js';
