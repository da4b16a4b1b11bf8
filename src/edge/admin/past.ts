/** The past of a database or queue: its entries, its state at a moment, its changes, and their verification. */
import type { AuditTask } from '../../ports/index.js';
import { invalid } from '../http/refused.js';
import type { AdminCall } from './admin-call.js';
import { MAX_ADMIN_ANSWER_BYTES, MAX_DIFF_CHANGES } from './admin-limits.js';
import { openStream } from './open-stream.js';

/** `{"entries": […], "more": …}` */
export async function timeline(call: AdminCall, of: AuditTask['of']): Promise<void> {
  if (of === undefined) throw invalid('a timeline exists for a database or a queue');
  const limit = call.limit();
  const task = {
    kind: 'timeline',
    of,
    from: call.moment('from'),
    to: call.moment('to'),
    limit: limit + 1,
    key: of.kind === 'database' ? call.keyBytes('key') : undefined,
    isNewestFirst: call.isAsked('newest'),
  } as const;
  await list(call, task, 'entries', limit);
}

/** `{"state": {…}, "keys": […], "more": …}` */
export async function stateAt(call: AdminCall): Promise<void> {
  const of = await call.database();
  const limit = call.limit();
  const task = {
    kind: 'state',
    of,
    at: call.requiredMoment('at'),
    after: call.keyBytes('after'),
    limit: limit + 1,
    withValues: call.isAsked('values'),
    key: call.keyBytes('key'),
  } as const;
  await list(call, task, 'keys', limit, 'state');
}

/** `{"changes": […], "more": …}` */
export async function diff(call: AdminCall): Promise<void> {
  const of = await call.database();
  const [from, to] = [call.requiredMoment('from'), call.requiredMoment('to')];
  const limit = call.query.has('limit') ? call.limit(MAX_DIFF_CHANGES) : MAX_DIFF_CHANGES;
  const task = { kind: 'diff', of, from, to, limit: limit + 1, withValues: call.isAsked('values') } as const;
  await list(call, task, 'changes', limit);
}

/** Events `progress`, `report` for each journal, and `done` with the overall result; `failed` after an error. */
export async function verify(call: AdminCall, of: AuditTask['of']): Promise<void> {
  await openStream(call, async (stream) => {
    await walk(call, { kind: 'verify', of }, stream.signal, async (texts) => {
      stream.begin();
      for await (const text of texts) {
        const [name = 'report'] = /^\{"(\w+)":/.exec(text)?.slice(1) ?? [];
        const data = text.slice(name.length + 4, -1);
        if (name === 'done' && of === undefined) noteVerified(call, data);
        await stream.send(name, data);
      }
    });
  });
}

function noteVerified({ endpoint }: AdminCall, done: string): void {
  const { isFine } = JSON.parse(done) as { readonly isFine: boolean };
  endpoint.verified = { atMs: endpoint.parts.clock.nowMs(), isFine };
}

/** Collects the answer up to its size limit; `more` reports omitted items. */
async function list(call: AdminCall, task: AuditTask, name: string, limit: number, headName?: string): Promise<void> {
  const items: string[] = [];
  let head = '';
  let bytes = 0;
  let hasMore = false;
  await walk(call, task, call.signal, async (texts) => {
    for await (const text of texts) {
      if (headName !== undefined && head === '') {
        head = `"${headName}":${text},`;
        continue;
      }
      bytes += Buffer.byteLength(text);
      if (items.length === limit || (bytes > MAX_ADMIN_ANSWER_BYTES && items.length > 0)) {
        hasMore = true;
        break;
      }
      items.push(text);
    }
  });
  call.json(`{${head}"${name}":[${items.join(',')}],"more":${hasMore}}`);
}

/** @throws Refused 503, or MAILBOX_FULL, before `take` is called, if too many walks are running */
async function walk(
  { endpoint: { parts, walks }, grant }: AdminCall,
  task: AuditTask,
  signal: AbortSignal,
  take: (texts: AsyncIterable<string>) => Promise<void>,
): Promise<void> {
  // Operators may use all walks of the process.
  const giveBack = walks.take(grant.account, parts.isOperator(grant) ? Number.POSITIVE_INFINITY : undefined);
  try {
    await take(parts.audit.run(task, signal));
  } finally {
    giveBack();
  }
}
