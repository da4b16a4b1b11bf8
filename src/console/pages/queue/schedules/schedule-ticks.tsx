/** The times of a schedule: the next ones, and the messages of past ones. */
import type { Schemas } from '#api';
import { useAsk } from '../../../api/ask.js';
import { ofQueue } from '../../../api/call.js';
import { Dialog } from '../../../parts/dialog.js';
import { Empty, Shown } from '../../../parts/states.js';
import { Table } from '../../../parts/table.js';
import { Time } from '../../../parts/time.js';
import { useLinks } from '../links.js';
import { useMessageColumns } from '../messages/message-columns.js';
import { messagePage } from '../messages/message-rows.js';
import type { Schedule } from '../tab.js';

const TO_COME = 10;

export interface TicksProps {
  readonly account: string;
  readonly schedule: Schedule;
  onClose(): void;
}

export function ScheduleTicks({ account, schedule, onClose }: TicksProps) {
  const { scheduleId, cron, isPaused, nextScheduleTime } = schedule;
  const links = useLinks();
  // The next time of `@every` depends on the previous one, not only on the expression.
  const next = useAsk(
    `${cron} ${nextScheduleTime}`,
    (): Promise<Schemas['Ticks']> =>
      ofQueue(account, 'GET /v2/ticks', { query: { cron, count: TO_COME - 1, fromDate: nextScheduleTime } }),
  );
  const past = useAsk(`${account} ${scheduleId}`, (signal) =>
    messagePage(account, 'all', { scheduleId }, undefined, signal),
  );
  const columns = useMessageColumns('all').filter(({ title }) => title !== 'Belongs to');
  return (
    <Dialog title={`Ticks of ${scheduleId}`} isLarge onClose={onClose}>
      <section class="stack tight">
        <h3>
          To come <code class="muted">{cron}</code>
        </h3>
        {isPaused && <p class="note warn">It is paused: these ticks are skipped until it is resumed.</p>}
        <Shown asked={next}>
          {({ ticks }) => (
            <ol class="ticks">
              {[nextScheduleTime, ...ticks].map((at) => (
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
