/** Starts a run, and shows the curl command for it. */
import { signal, useSignal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { ofQueue } from '../../api/call.js';
import { usePageQuery } from '../../api/query.js';
import { useQueueUrl } from '../../api/queue-url.js';
import { Code } from '../../parts/code.js';
import { SubmitRow, TextField } from '../../parts/field.js';
import { failed, said } from '../../parts/toast.js';
import { curlLine, TOKEN_VARIABLE, URL_VARIABLE } from '../queue/publish/curl.js';
import { callOf, type Draft, type DraftCall, draftOf, type HeaderRow } from '../queue/publish/draft.js';
import { useRunLinks } from './links.js';

export function TriggerForm({ account }: { readonly account: string }) {
  const [query] = usePageQuery();
  const { route } = useLocation();
  const links = useRunLinks();
  const draft = useMemo(() => draftOf({ url: query.url ?? '', body: '{}' }), []);
  const runId = useSignal('');
  const headers = useSignal('');
  const isBusy = useSignal(false);
  const send = async (event: Event) => {
    event.preventDefault();
    isBusy.value = true;
    try {
      const started = await trigger(account, triggerCall(draft, runId.value, headers.value));
      said(started.deduplicated === true ? 'A run of this id is under way already' : 'The run has begun');
      if (started.workflowRunId !== undefined) route(links.run(started.workflowRunId, started.workflowCreatedAt));
    } catch (error) {
      failed(error);
    } finally {
      isBusy.value = false;
    }
  };
  return (
    <div class="flow-trigger">
      <form class="card stack" onSubmit={send}>
        <Fields draft={draft} runId={runId} headers={headers} />
        <SubmitRow isDisabled={isBusy.value}>Start the run</SubmitRow>
      </form>
      <section class="card stack tight" aria-label="The same in a shell">
        <h2>The same in a shell</h2>
        <CurlOfTrigger draft={draft} runId={runId.value} headers={headers.value} />
        <p class="small muted">
          <code>MILLRACE_QUEUE_TOKEN</code> is the token of the queue. With the published client:{' '}
          <code>client.trigger</code>.
        </p>
      </section>
    </div>
  );
}

interface FieldsProps {
  readonly draft: Draft;
  readonly runId: Draft['url'];
  readonly headers: Draft['url'];
}

function Fields({ draft, runId, headers }: FieldsProps) {
  return (
    <>
      <TextField label="URL of the workflow" type="url" value={draft.url} isRequired placeholder="https://…/order" />
      <TextField label="Payload" value={draft.body} isLong rows={6} hint="The body of the run, byte for byte." />
      <div class="form-grid">
        <TextField label="Content type" value={draft.contentType} />
        <TextField label="Run id" value={runId} placeholder="wfr_…" hint="Left out: one is made." />
        <TextField label="Labels" value={draft.labels} placeholder="shop,vip" hint="Separated by commas." />
      </div>
      <TextField
        label="Headers"
        value={headers}
        isLong
        rows={3}
        placeholder="X-Trace: abc"
        hint="One a line; sent with every delivery."
      />
      <div class="form-grid">
        <TextField label="Retries" value={draft.retries} type="number" placeholder="3" hint="Of every delivery." />
        <TextField
          label="Retry delay"
          value={draft.retryDelay}
          placeholder="1000 * (1 + retried)"
          hint="Milliseconds, an expression."
        />
        <TextField label="Delay" value={draft.delay} placeholder="10s, 1h30m" hint="Of the first delivery." />
        <TextField
          label="Failure URL"
          value={draft.failureCallback}
          type="url"
          hint="Called when the run fails, instead of its own URL."
        />
      </div>
      <fieldset class="flow-control">
        <legend>Flow control</legend>
        <div class="form-grid">
          <TextField label="Key" value={draft.flowKey} placeholder="bank" />
          <TextField label="Parallelism" value={draft.parallelism} type="number" placeholder="calls in parallel" />
          <TextField label="Rate" value={draft.rate} type="number" placeholder="a period" />
          <TextField label="Period" value={draft.period} placeholder="1s" />
        </div>
      </fieldset>
    </>
  );
}

interface CurlProps {
  readonly draft: Draft;
  readonly runId: string;
  readonly headers: string;
}

function CurlOfTrigger({ draft, runId, headers }: CurlProps) {
  const base = useQueueUrl() ?? URL_VARIABLE;
  try {
    return <Code text={curlLine(base, TOKEN_VARIABLE, triggerCall(draft, runId, headers))} />;
  } catch (error) {
    return <p class="note bad">{error instanceof Error ? error.message : String(error)}</p>;
  }
}

/** @throws Error for an invalid header line */
function triggerCall(draft: Draft, runId: string, headerLines: string): DraftCall {
  const call = callOf({ ...draft, headers: signal(rowsOf(headerLines)) });
  const id = runId.trim();
  const headers = id === '' ? call.headers : [['Svc-Workflow-RunId', id] as const, ...call.headers];
  return { ...call, place: '/v2/trigger/', headers };
}

/** `Name: value`, one per line. */
function rowsOf(lines: string): readonly HeaderRow[] {
  return lines
    .split('\n')
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name, value] = /^\s*([^\s:]+)\s*:\s*(.*?)\s*$/.exec(line) ?? [];
      if (name === undefined || value === undefined) throw new Error(`This is no header, "Name: value": ${line}`);
      return { name, value };
    });
}

function trigger(account: string, { destination, headers, query, body }: DraftCall) {
  return ofQueue(account, 'POST /v2/trigger/{destination}', {
    path: { destination },
    query: Object.fromEntries(query),
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { body }),
  });
}
