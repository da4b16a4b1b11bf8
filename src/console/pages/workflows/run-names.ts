/** The title of a run: the path of its workflow and a few words that tell it from others. */
import { functionOf, type Run } from './records.js';

const MAX_CHARACTERS = 40;
/** Members of a payload that identify its subject: `id`, `orderId`, `order_number`. */
const IDENTIFYING = /^(.*?)[_-]?(id|number|no|key|name)$/i;

/** "/checkout · order 205" */
export function titleOf(run: Run): string {
  const summary = summaryOf(run);
  return summary === undefined ? functionOf(run.workflowUrl) : `${functionOf(run.workflowUrl)} · ${summary}`;
}

/** The first label; without labels, a member of the payload that looks like an id. Undefined: neither exists. */
export function summaryOf({ labels = [], steps }: Run): string | undefined {
  const [label] = labels;
  if (label !== undefined) return label;
  const init = steps[0]?.type === 'next' ? undefined : steps[0]?.steps[0];
  return init?.stepId === undefined ? subjectOf(init?.out ?? '') : undefined;
}

function subjectOf(payload: string): string | undefined {
  for (const [name, value] of Object.entries(membersOf(payload))) {
    const isNumber = Number.isSafeInteger(value);
    const isText = typeof value === 'string' && value !== '' && value.length <= MAX_CHARACTERS;
    const [, subject, kind] = IDENTIFYING.exec(name) ?? [];
    if (!isNumber && (!isText || kind === undefined)) continue;
    return `${subject || name} ${String(value)}`.slice(0, MAX_CHARACTERS);
  }
  return undefined;
}

function membersOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    // A payload of another form, or one that is cut, has no members.
    return {};
  }
}
