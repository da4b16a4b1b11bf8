/**
 * Compares the streams on the servers with the layout, at every start. A difference needs an operator: this
 * comparison creates and repairs no stream.
 */

import type { NatsConnections } from './connection.js';
import { JetStreamApi } from './jetstream-api.js';
import type { ClusterLayout } from './layout-record.js';
import { readLayout } from './layout-record.js';
import {
  declareBucket,
  declareStreams,
  differingSettings,
  forbiddenSettings,
  type StreamDeclaration,
} from './streams.js';
import { Names } from './subjects.js';

interface Difference {
  readonly kind: 'no-layout' | 'layout-incomplete' | 'stream-missing' | 'stream-altered' | 'stream-recreated';
  /** Name of the stream on the server; empty for the layout itself. */
  readonly stream: string;
  /** One line for the operator. */
  readonly detail: string;
}

export interface Verification {
  readonly layout: ClusterLayout | undefined;
  readonly differences: readonly Difference[];
}

const STREAMS_AT_ONCE = 8;

/** @throws JOURNAL_UNAVAILABLE when the servers cannot be asked */
export async function verifyCluster(connections: NatsConnections, prefix: string): Promise<Verification> {
  const layout = await readLayout(connections, prefix);
  if (layout === undefined) {
    const detail = 'the installation was not initialised here, or its layout was lost';
    return { layout, differences: [{ kind: 'no-layout', stream: '', detail }] };
  }
  if (!layout.complete) {
    const detail = 'an initialisation did not finish: run it again';
    return { layout, differences: [{ kind: 'layout-incomplete', stream: '', detail }] };
  }
  const names = new Names(prefix);
  const api = new JetStreamApi(connections.control);
  const declarations = [declareBucket(names, 'layout', layout.replicas), ...declareStreams(names, layout)];
  const differences: Difference[] = [];
  for (let at = 0; at < declarations.length; at += STREAMS_AT_ONCE) {
    const some = declarations.slice(at, at + STREAMS_AT_ONCE);
    const found = await Promise.all(some.map((declaration) => compare(api, declaration, layout)));
    differences.push(...found.flat());
  }
  return { layout, differences };
}

async function compare(
  api: JetStreamApi,
  { key, config }: StreamDeclaration,
  layout: ClusterLayout,
): Promise<Difference[]> {
  const stream = config.name;
  const actual = await api.findStream(stream);
  if (actual === undefined) return [{ kind: 'stream-missing', stream, detail: `stream ${stream} does not exist` }];
  const differences: Difference[] = [];
  const recorded = layout.streams[key];
  if (recorded !== undefined && !isSameInstant(recorded, actual.created)) {
    const detail = `stream ${stream} was created at ${actual.created}, the layout says ${recorded}`;
    differences.push({ kind: 'stream-recreated', stream, detail });
  }
  const altered = [...differingSettings(config, actual.config), ...forbiddenSettings(actual.config)];
  if (altered.length > 0) {
    const detail = `stream ${stream} does not have the settings it was created with: ${altered.join(', ')}`;
    differences.push({ kind: 'stream-altered', stream, detail });
  }
  return differences;
}

/** True if both instants agree to the nanosecond; the server may leave out trailing zeros. */
function isSameInstant(one: string, other: string): boolean {
  return normalised(one) === normalised(other);
}

function normalised(instant: string): string {
  const match = /^(.+?)(?:\.(\d+))?(Z|[+-]\d\d:\d\d)$/.exec(instant);
  if (match === null) return instant;
  const wholeSecondsMs = Date.parse(`${match[1]}${match[3]}`);
  return `${wholeSecondsMs}.${(match[2] ?? '').padEnd(9, '0')}`;
}
