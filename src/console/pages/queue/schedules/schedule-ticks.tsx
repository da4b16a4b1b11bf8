/** The times of a schedule: the next ones, and the messages of past ones. */
import { type Asked, useAsk } from '../../../api/ask.js';
import { ofQueue } from '../../../api/call.js';
import { Dialog } from '../../../parts/dialog.js';
import { Empty, Shown } from '../../../parts/states.js';
import { Table } from '../../../parts/table.js';
import { Time } from '../../../parts/time.js';
import { useLinks } from '../links.js';
import { useMessageColumns } from '../messages/message-columns.js';
import { messagePage } from '../messages/message-rows.js';
import type { Schedule } from '../tab.js';
import { CronWords } from './cron-words.js';

const TO_COME = 10;

/** @param count  1: the schedule's own next time, without a request */
export function useNextTicks(account: string, schedule: Schedule, count: number): Asked<readonly number[]> {
  const { cron, nextScheduleTime } = schedule;
  // The next time of `@every` depends on the previous one, not only on the expression.
  return useAsk(`${cron} ${nextScheduleTime} ${count}`, async (signal) => {
    if (count === 1) return [nextScheduleTime];
    const query = { cron, count: count - 1, fromDate: nextScheduleTime };
    const { ticks } = await ofQueue(account, 'GET /v2/ticks', { query, signal });
    return [nextScheduleTime, ...ticks];
  });
}

export interface TicksProps {
  readonly account: string;
  readonly schedule: Schedule;
  onClose(): void;
}

export function ScheduleTicks({ account, schedule, onClose }: TicksProps) {
  const { scheduleId, cron, isPaused } = schedule;
  const links = useLinks();
  const next = useNextTicks(account, schedule, TO_COME);
  const past = useAsk(`${account} ${scheduleId}`, (signal) =>
    messagePage(account, 'all', { scheduleId }, undefined, signal),
  );
  const columns = useMessageColumns('all').filter(({ title }) => title !== 'Belongs to');
  return (
    <Dialog title={`Ticks of ${scheduleId}`} isLarge onClose={onClose}>
      <section class="stack tight">
        <h3>
          To come: <CronWords cron={cron} /> <code class="muted">{cron}</code>
        </h3>
        {isPaused && <p class="note warn">It is paused: these ticks are skipped until it is resumed.</p>}
        <Shown asked={next}>
          {(ticks) => (
            <ol class="ticks">
              {ticks.map((at) => (
                <li key={at}>
                  <Time at={at} />
                </li>
              ))}
            </ol>
          )}
        </Shown>
      </section>
      <section class="stack tight">
        <div class="row between">
          <h3>Past, the newest first</h3>
          <a href={links.queue({ scheduleId })}>All its messages</a>
        </div>
        <Shown asked={past}>
          {({ rows }) => (
            <Table
              label="Messages of past ticks"
              columns={columns}
              rows={rows}
              idOf={({ id }) => id}
              empty={<Empty title="It has not ticked yet" />}
            />
          )}
        </Shown>
      </section>
    </Dialog>
  );
}
