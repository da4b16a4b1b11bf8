/** The installation as its operators see it (GET /v2/admin/cluster), and as it changes. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { Operations } from '#api';
import { CallError, manage } from '../../api/call.js';
import { type LiveState, useLive } from '../../api/live.js';

export type ClusterStatus = Operations['GET /v2/admin/cluster'];
export type ProcessStatus = ClusterStatus['processes'][number];
export type ShardStatus = ClusterStatus['shards'][number];
export type ServerStatus = ClusterStatus['servers'][number];
export type StreamStatus = ClusterStatus['streams'][number];

const status = signal<ClusterStatus | undefined>(undefined);
const failure = signal<CallError | undefined>(undefined);

export interface ShownCluster {
  readonly data: ClusterStatus | undefined;
  readonly error: CallError | undefined;
  readonly live: LiveState;
}

/** The whole status at once, and again whenever it has changed. */
export function useCluster(): ShownCluster {
  useEffect(() => {
    manage('GET /v2/admin/cluster').then(
      (answer) => {
        status.value = answer;
        failure.value = undefined;
      },
      (error: unknown) => {
        failure.value = error instanceof CallError ? error : new CallError(0, String(error));
      },
    );
  }, []);
  const live = useLive('/v2/admin/cluster/events', {
    cluster: (data) => {
      status.value = data as ClusterStatus;
      failure.value = undefined;
    },
  });
  return { data: status.value, error: failure.value, live };
}
