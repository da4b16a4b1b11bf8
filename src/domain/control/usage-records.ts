/**
 * Labels of databases, queues and search indexes, and the monthly reports of their use.
 *
 *  USR1 a deleted database, queue or index has no labels, so their number is bounded by those that exist
 */
import type { AccountId, DatabaseId } from '../../kernel/index.js';
import { integer, listOf, looseText, openRecord, type RecordType, type TypeOf } from '../../kernel/schema/index.js';
import { accountId, labeledId } from './ids.js';

export const label = openRecord({ name: looseText(), value: looseText() });
export type Label = TypeOf<typeof label>;

/** Ids of databases and indexes are distinct, and those of queues differ from both. */
export const labelsFields = { id: labeledId, labels: listOf(label) };
export type LabeledId = DatabaseId | AccountId;
export type LabelsOfOne = RecordType<typeof labelsFields>;

export const usageReportFields = {
  account: accountId,
  /** The address of the webhook; empty: no reports. */
  url: looseText(),
  /** The last month with a report, or the one before the address was set: months since 1970. */
  month: integer,
};
export type UsageReport = RecordType<typeof usageReportFields>;

export class UsageRecords {
  readonly labels = new Map<LabeledId, LabelsOfOne>();
  readonly reports = new Map<AccountId, UsageReport>();

  putLabels({ id, labels }: LabelsOfOne): void {
    if (labels.length === 0) this.labels.delete(id);
    else this.labels.set(id, { id, labels });
  }

  putReport({ account, url, month }: UsageReport): void {
    if (url === '') this.reports.delete(account);
    else this.reports.set(account, { account, url, month });
  }

  labelsOf(id: LabeledId): readonly Label[] {
    return this.labels.get(id)?.labels ?? [];
  }

  /** USR1. @param id of a database, queue or index, or of an account with its report */
  drop(id: LabeledId): void {
    this.labels.delete(id);
    this.reports.delete(id as AccountId);
  }
}
