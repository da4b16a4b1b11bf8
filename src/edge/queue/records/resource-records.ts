/** Groups, queues and flow-control keys as the API shows them. */
import type { FlowView, QueueView, UrlGroup } from '../../../domain/queue/index.js';

/** Endpoints have only the given members: clients compare whole objects. */
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

/** 0 means no limit; the window's start is in seconds. */
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
