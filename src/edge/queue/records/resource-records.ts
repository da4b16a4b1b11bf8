/** Groups, queues and flow-control keys as their readers see them. */
import type { FlowView, QueueView, UrlGroup } from '../../../domain/queue/index.js';

/** Endpoints have nothing but what was given: clients compare them whole. */
export function groupRecord({ name, createdAtMs, updatedAtMs, endpoints }: UrlGroup) {
  return {
    name,
    createdAt: createdAtMs,
    updatedAt: updatedAtMs,
    endpoints: endpoints.map((endpoint) => ({ url: endpoint.url, name: endpoint.name })),
  };
}

export function queueRecord({ name, parallelism, isPaused, lag, createdAtMs, updatedAtMs }: QueueView) {
  return { name, parallelism, paused: isPaused, lag, createdAt: createdAtMs, updatedAt: updatedAtMs };
}

/** Limits that a key does not have are 0; the window's start is in seconds. */
export function flowRecord(flow: FlowView) {
  return {
    flowControlKey: flow.key,
    waitListSize: flow.waiting,
    parallelismMax: flow.parallelism ?? 0,
    parallelismCount: flow.active,
    rateMax: flow.rate ?? 0,
    rateCount: flow.started,
    ratePeriod: flow.periodSeconds,
    ratePeriodStart: Math.floor(flow.windowStartedAtMs / 1000),
    isPaused: flow.isPaused,
    isPinnedParallelism: flow.isParallelismPinned,
    isPinnedRate: flow.isRatePinned,
  };
}
