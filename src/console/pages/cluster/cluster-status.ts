/** The status of the installation for operators (GET /v2/admin/cluster), with live updates. */
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

export interface ClusterView {
  readonly data: ClusterStatus | undefined;
  readonly error: CallError | undefined;
  readonly live: LiveState;
}

/** Loads the whole status, and updates it after each change. */
export function useCluster(): ClusterView {
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
