/** The overview: current activity, and problems that need attention. */
import { PageHead } from '../../parts/page-head.js';
import { PeriodChoice, usePeriod } from '../../parts/period-choice.js';
import { Shown } from '../../parts/states.js';
import { Attention, mattersIn } from './attention.js';
import { Charts } from './charts.js';
import { Checklist } from './checklist/checklist.js';
import { Figures } from './figures.js';
import { useOverview } from './overview-data.js';
import { Ranks } from './ranks.js';

export default function OverviewPage() {
  const period = usePeriod();
  const asked = useOverview(period);
  return (
    <>
      <PageHead title="Overview">
        <PeriodChoice />
      </PageHead>
      <Shown asked={asked} rows={8}>
        {(overview) => (
          <div class="stack">
            <Checklist overview={overview} />
            <Attention matters={mattersIn(overview)} account={overview.account} onDone={() => void asked.reload()} />
            {overview.missing.length > 0 && (
              <p class="note warn">{`Not known right now: ${overview.missing.join(', ')}.`}</p>
            )}
            <Figures overview={overview} period={period} />
            <Ranks overview={overview} />
            <Charts overview={overview} />
          </div>
        )}
      </Shown>
    </>
  );
}
