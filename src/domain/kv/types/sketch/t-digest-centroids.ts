/** The arithmetic of t-digests: merging centroids, and quantiles, shares and means from merged ones. */

export interface Centroids {
  readonly means: Float64Array;
  readonly weights: Float64Array;
  readonly count: number;
  /** The sum of the weights. */
  readonly total: number;
  readonly min: number;
  readonly max: number;
}

/**
 * Sorts centroids, and merges neighbours while their weight is small enough for their place: little at the ends, more in
 * the middle. The more compression, the less each may have.
 */
export function mergeCentroids({ means, weights, count, total, min, max }: Centroids, compression: number): Centroids {
  const order = Uint32Array.from({ length: count }, (_, at) => at).sort(
    (a, b) => (means[a] as number) - (means[b] as number) || a - b,
  );
  const merged = { means: new Float64Array(count), weights: new Float64Array(count) };
  const normalizer = compression / (2 * Math.PI * total * Math.log(total));
  let last = -1;
  let before = 0;
  for (const at of order) {
    const [mean, weight] = [means[at] as number, weights[at] as number];
    if (last >= 0 && total > 1) {
      const together = (merged.weights[last] as number) + weight;
      const [low, high] = [before / total, (before + together) / total];
      const share = together * normalizer;
      if (share <= low * (1 - low) && share <= high * (1 - high)) {
        merged.weights[last] = together;
        merged.means[last] =
          (merged.means[last] as number) + ((mean - (merged.means[last] as number)) * weight) / together;
        continue;
      }
      before += merged.weights[last] as number;
    }
    last += 1;
    merged.means[last] = mean;
    merged.weights[last] = weight;
  }
  return { ...merged, count: last + 1, total, min, max };
}

/** The value below which the share `q` of the values lies; NaN without values. */
export function quantileOf(centroids: Centroids, q: number): number {
  const { means, weights, count, total, min, max } = centroids;
  if (count === 0) return Number.NaN;
  if (count === 1) return means[0] as number;
  const index = q * total;
  if (index < 1) return min;
  if (index > total - 1) return max;
  const [firstWeight, lastWeight] = [weights[0] as number, weights[count - 1] as number];
  // One value of an outer centroid is the extreme one itself.
  if (firstWeight > 1 && index < firstWeight / 2) {
    return min + ((index - 1) / (firstWeight / 2 - 1)) * ((means[0] as number) - min);
  }
  if (lastWeight > 1 && total - index <= lastWeight / 2) {
    return max - ((total - index - 1) / (lastWeight / 2 - 1)) * (max - (means[count - 1] as number));
  }
  let before = firstWeight / 2;
  for (let at = 0; at < count - 1; at += 1) {
    const between = ((weights[at] as number) + (weights[at + 1] as number)) / 2;
    if (before + between > index) return betweenCentroids(centroids, at, index - before, between);
    before += between;
  }
  return max;
}

/** A place between two neighbours. All values of a centroid of weight 1 are at its mean. */
function betweenCentroids({ means, weights }: Centroids, at: number, from: number, between: number): number {
  const [left, right] = [means[at] as number, means[at + 1] as number];
  const leftIsOne = weights[at] === 1;
  const rightIsOne = weights[at + 1] === 1;
  if (leftIsOne && from < 0.5) return left;
  if (rightIsOne && between - from <= 0.5) return right;
  const toLeft = from - (leftIsOne ? 0.5 : 0);
  const toRight = between - from - (rightIsOne ? 0.5 : 0);
  const mean = (left * toRight + right * toLeft) / (toLeft + toRight);
  return Math.max(left, Math.min(mean, right));
}

/** The share of values below `value`, counting half of those equal to it; NaN without values. */
export function shareBelow(centroids: Centroids, value: number): number {
  const { means, weights, count, total, min, max } = centroids;
  if (count === 0) return Number.NaN;
  if (value < min) return 0;
  if (value > max) return 1;
  if (count === 1) return 0.5;
  const [first, last] = [means[0] as number, means[count - 1] as number];
  if (value < first) {
    if (value === min) return 0.5 / total;
    return (1 + ((value - min) / (first - min)) * ((weights[0] as number) / 2 - 1)) / total;
  }
  if (value > last) {
    if (value === max) return 1 - 0.5 / total;
    return 1 - (1 + ((max - value) / (max - last)) * ((weights[count - 1] as number) / 2 - 1)) / total;
  }
  let before = 0;
  for (let at = 0; at < count; at += 1) {
    if (means[at] === value) {
      let equal = 0;
      for (let same = at; same < count && means[same] === value; same += 1) equal += weights[same] as number;
      return (before + equal / 2) / total;
    }
    if (at + 1 < count && value < (means[at + 1] as number)) return shareBetween(centroids, at, before, value);
    before += weights[at] as number;
  }
  return 1 - 0.5 / total;
}

function shareBetween({ means, weights, total }: Centroids, at: number, before: number, value: number): number {
  const [left, right] = [means[at] as number, means[at + 1] as number];
  const [leftWeight, rightWeight] = [weights[at] as number, weights[at + 1] as number];
  if (leftWeight === 1 && rightWeight === 1) return (before + 1) / total;
  const leftOut = leftWeight === 1 ? 0.5 : 0;
  const rightOut = leftWeight !== 1 && rightWeight === 1 ? 0.5 : 0;
  const between = (leftWeight + rightWeight) / 2 - leftOut - rightOut;
  return (before + leftWeight / 2 + leftOut + (between * (value - left)) / (right - left)) / total;
}

/** The mean of the values between two quantiles; NaN without values. */
export function trimmedMean({ means, weights, count, total }: Centroids, low: number, high: number): number {
  if (count === 0) return Number.NaN;
  if (count === 1) return means[0] as number;
  const [from, to] = [Math.floor(total * low), Math.ceil(total * high)];
  let [before, sum, taken] = [0, 0, 0];
  for (let at = 0; at < count && before < to; at += 1) {
    const weight = weights[at] as number;
    const inside = Math.max(0, Math.min(before + weight, to) - Math.max(before, from));
    sum += (means[at] as number) * inside;
    taken += inside;
    before += weight;
  }
  return sum / taken;
}
