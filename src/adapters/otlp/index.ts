/** Traces for an OTLP collector; loaded only when one is configured. */
export { OtlpTracing } from './otlp-tracing.js';
