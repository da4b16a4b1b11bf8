/** The installation as its operators see it (GET /v2/admin/cluster), and as it changes. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { CallError, manage } from '../../api/call.js';
import { type LiveState, useLive } from '../../api/live.js';

export interface ProcessStatus {
  readonly process: string;
  readonly state: 'ready' | 'not-ready' | 'silent' | 'gone';
  readonly host?: string;
  readonly pid?: number;
  readonly version?: string;
  readonly roles?: readonly string[];
  readonly startedAtMs?: number;
  readonly checks?: readonly { readonly name: string; readonly ok: boolean; readonly detail?: string }[];
  readonly clockAheadMs?: number;
  readonly machineAheadMs?: number;
  readonly isClockInDoubt?: boolean;
  readonly readsFormat?: number;
  readonly isDrained: boolean;
  readonly ownedShards: number;
  readonly stopped?: readonly { readonly shard: string; readonly why: string }[];
}

export interface ShardStatus {
  readonly shard: string;
  readonly owner?: string;
  readonly state?: string;
  readonly epoch?: number;
  readonly position?: number;
  readonly lag?: number;
  readonly mailboxCommands?: number;
  readonly mailboxBytes?: number;
  readonly lastStoreMs?: number;
  readonly replayed?: number;
  readonly toReplay?: number;
  readonly snapshotAtMs?: number;
  readonly wished?: string;
}

export interface ServerStatus {
  readonly name: string;
  readonly state: 'well' | 'no-store' | 'missing';
  readonly version?: string;
  readonly hasSyncAlways?: boolean;
  readonly storedBytes?: number;
  readonly storeLimitBytes?: number;
}

export interface StreamStatus {
  readonly stream: string;
  readonly bytes: number;
  readonly messages: number;
  readonly lastPosition: number;
  readonly leader?: string;
  readonly lagging: readonly { readonly server: string; readonly behind: number; readonly isOffline: boolean }[];
}

export interface Wish {
  readonly process: string;
  readonly by: string;
  readonly atMs: number;
}

export interface ClusterStatus {
  readonly clusterId: string;
  readonly format?: number;
  readonly alarms: readonly string[];
  readonly processes: readonly ProcessStatus[];
  readonly shards: readonly ShardStatus[];
  readonly servers: readonly ServerStatus[];
  readonly streams: readonly StreamStatus[];
  readonly drained: readonly Wish[];
  readonly moves: readonly (Wish & { readonly shard: string })[];
}

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
        status.value = answer as unknown as ClusterStatus;
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
