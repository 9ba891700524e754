/** What messages cost: estimated and held when they are accepted, settled when they are delivered. */
export { type Charger, createCharger } from "./apply.ts";
export { type PriceEstimate, readEstimates } from "./estimate.ts";
export { releaseChargesJob } from "./release.ts";
