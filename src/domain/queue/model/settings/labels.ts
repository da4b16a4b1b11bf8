/** Labels by which a caller finds a message again: separated by commas, without duplicates, in the given order. */
import { MAX_LABEL_BYTES, MAX_LABELS } from '../limits.js';

export type LabelsOutcome =
  | { readonly isOk: true; readonly labels: readonly string[] }
  | { readonly isOk: false; readonly message: string };

export function parseLabels(text: string): LabelsOutcome {
  const labels: string[] = [];
  for (const part of text.split(',')) {
    const label = part.trim();
    if (label === '' || labels.includes(label)) continue;
    if (Buffer.byteLength(label) > MAX_LABEL_BYTES) {
      return { isOk: false, message: `a label is longer than ${MAX_LABEL_BYTES} bytes` };
    }
    if (labels.length === MAX_LABELS) return { isOk: false, message: `more than ${MAX_LABELS} labels` };
    labels.push(label);
  }
  return { isOk: true, labels };
}
