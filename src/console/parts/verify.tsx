/** Verifies journals with visible progress, and shows a printable result. */
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { Badge } from './badge.js';
import { Button, PrimaryButton } from './button.js';
import { whole } from './format.js';
import { type Column, Table } from './table.js';
import { Time } from './time.js';

interface Report {
  readonly shard: string;
  readonly entries?: number;
  readonly records?: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
  readonly hash?: string;
  readonly snapshots?: number;
  readonly findings: readonly unknown[];
}

interface Progress {
  readonly shard: string;
  readonly phase: string;
  readonly done: number;
  readonly total: number;
}

interface Proof {
  readonly state: 'none' | 'running' | 'fine' | 'damaged' | 'failed';
  readonly startedAtMs: number;
  readonly reports: readonly Report[];
  readonly progress?: Progress | undefined;
  readonly error?: string | undefined;
}

const NONE: Proof = { state: 'none', startedAtMs: 0, reports: [] };

/** @param path  a stream of events `progress`, `report`, `done` and `failed` */
export function Verify({ path, subject }: { readonly path: string; readonly subject: string }) {
  const proof = useSignal(NONE);
  const source = useRef<EventSource | undefined>(undefined);
  useEffect(() => () => source.current?.close(), []);
  const change = (more: Partial<Proof>) => {
    proof.value = { ...proof.value, ...more };
  };
  const end = (more: Partial<Proof>) => {
    source.current?.close();
    change({ progress: undefined, ...more });
  };
  const start = () => {
    proof.value = { ...NONE, state: 'running', startedAtMs: Date.now() };
    const events = new EventSource(path);
    source.current = events;
    const on = (name: string, take: (data: never) => void) =>
      events.addEventListener(name, ({ data }: MessageEvent<string>) => take(JSON.parse(data) as never));
    on('progress', (progress: Progress) => change({ progress }));
    on('report', (report: Report) => change({ reports: [...proof.value.reports, report] }));
    on('done', ({ isFine }: { isFine: boolean }) => end({ state: isFine ? 'fine' : 'damaged' }));
    on('failed', ({ error }: { error: string }) => end({ state: 'failed', error }));
    // An interrupted verification has no result and is not restarted automatically.
    events.onerror = () =>
      end({ state: 'failed', error: 'It broke off; too many may look into the past just now: try again in a while.' });
  };
  const { state } = proof.value;
  return (
    <div class="stack">
      <div class="row no-print">
        <PrimaryButton disabled={state === 'running'} onClick={start}>
          Verify {subject}
        </PrimaryButton>
        {state === 'running' && <Button onClick={() => end(NONE)}>Stop</Button>}
        {(state === 'fine' || state === 'damaged') && <Button onClick={() => print()}>Print</Button>}
      </div>
      <p class="muted">Checks the hashes of every entry, every snapshot and every mark, read from the journal.</p>
      <Result proof={proof.value} subject={subject} />
    </div>
  );
}

const COLUMNS: readonly Column<Report>[] = [
  { title: 'Journal', cell: ({ shard }) => <code>{shard}</code> },
  { title: 'Entries', cell: ({ entries, records }) => whole(entries ?? records ?? 0), isNumber: true },
  {
    title: 'Positions',
    cell: ({ firstPosition, lastPosition }) => `${whole(firstPosition)} to ${whole(lastPosition)}`,
    isNumber: true,
    isWideOnly: true,
  },
  { title: 'Last hash', cell: ({ hash }) => <code class="wrap-anywhere">{hash ?? '–'}</code>, isWideOnly: true },
  {
    title: 'Findings',
    cell: ({ findings }) =>
      findings.length === 0 ? (
        <Badge tone="good">none</Badge>
      ) : (
        findings.map((finding) => (
          <div key={JSON.stringify(finding)} class="wrap-anywhere">
            {typeof finding === 'string' ? finding : JSON.stringify(finding)}
          </div>
        ))
      ),
  },
];

function Result({ proof, subject }: { readonly proof: Proof; readonly subject: string }) {
  const { state, startedAtMs, reports, progress, error } = proof;
  if (state === 'none') return null;
  return (
    <div class="stack" aria-live="polite">
      {state === 'running' && <Running progress={progress} />}
      {state === 'failed' && <p class="note bad">{error}</p>}
      {state === 'fine' && <p class="note good">No damage was found in {subject}.</p>}
      {state === 'damaged' && <p class="note bad">Damage was found: see the findings.</p>}
      <p class="small">
        Begun <Time at={startedAtMs} />
      </p>
      <Table label="Journals" columns={COLUMNS} rows={reports} idOf={({ shard }) => shard} />
    </div>
  );
}

function Running({ progress }: { readonly progress: Progress | undefined }) {
  if (progress === undefined) return <p>Begins…</p>;
  const { shard, phase, done, total } = progress;
  return (
    <label class="field">
      <span>
        {shard}, {phase}: {whole(done)} of {whole(total)}
      </span>
      <progress max={Math.max(total, 1)} value={done} />
    </label>
  );
}
