/** `millrace workflows check`: plays recorded runs to the endpoint of a new version, page by page. */
import { RefusedCommand } from './command-line.js';
import type { Api } from './dev/api.js';
import type { ParsedArguments } from './parser.js';
import { table } from './table.js';

interface CheckedRun {
  readonly workflowRunId: string;
  readonly workflowState: string;
  readonly outcome: 'compatible' | 'differs' | 'breaks' | 'unknown';
  readonly differences: readonly { readonly stepId?: number; readonly stepName?: string; readonly text: string }[];
  readonly reason?: string;
}

interface CheckAnswer {
  readonly runs: readonly CheckedRun[];
  readonly cursor?: string;
}

const DEFAULT_RUNS = 100;
/** Of one request, which lasts less than a minute. */
const RUNS_A_PAGE = 50;

/** Prints the runs that are not compatible; with `--json` all. @throws RefusedCommand if there are some */
export async function checkWorkflows(
  asked: ParsedArguments,
  { queue, write }: { readonly queue: Api; write(text: string): void },
): Promise<void> {
  const { url, runs: filter = '', count } = asked.options;
  const members = { url, ...filterOf(filter), ...(asked.flags.has('execute-steps') && { executeSteps: true }) };
  const isJson = asked.flags.has('json');
  const rows: string[][] = [];
  let checked = 0;
  let left = Number(count ?? DEFAULT_RUNS);
  let cursor: string | undefined;
  do {
    const page = { ...members, count: Math.min(left, RUNS_A_PAGE), ...(cursor !== undefined && { cursor }) };
    const answer = (await queue.ask('POST', '/v2/workflows/check', page)) as CheckAnswer;
    for (const run of answer.runs) {
      if (isJson) write(`${JSON.stringify(run)}\n`);
      if (run.outcome !== 'compatible') rows.push(...rowsOf(run));
    }
    checked += answer.runs.length;
    left -= page.count;
    cursor = answer.cursor;
  } while (cursor !== undefined && left > 0);
  if (rows.length > 0 && !isJson) write(table(['RUN', 'STATE', 'OUTCOME', 'STEP', 'REASON'], rows));
  const names = new Set(rows.map(([name]) => name));
  if (!isJson) write(`${checked - names.size} of ${checked} runs are compatible\n`);
  if (names.size > 0) throw new RefusedCommand(`${names.size} of ${checked} runs are not compatible with ${url}`);
}

function rowsOf({ workflowRunId, workflowState, outcome, differences, reason = '' }: CheckedRun): string[][] {
  const run = [workflowRunId, workflowState, outcome];
  if (differences.length === 0) return [[...run, '', oneLine(reason)]];
  return differences.map(({ stepId = '', stepName = '', text }) => [...run, `${stepId} ${stepName}`, oneLine(text)]);
}

function oneLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ');
}

/** `state=RUN_STARTED&label=big`, the URL of a workflow, or the id of a run. */
function filterOf(text: string): Record<string, string | string[]> {
  if (/^https?:/.test(text)) return { workflowUrl: text };
  if (!text.includes('=')) return { workflowRunId: text };
  const parameters = new URLSearchParams(text);
  return Object.fromEntries([...new Set(parameters.keys())].map((name) => [name, parameters.getAll(name)]));
}
