//! Least squares, with unknowns that are not negative.

/// How often each unknown is set to what is best beside the others. What is left to gain then is beyond the digits kept.
const ROUNDS: usize = 200_000;

/// The unknowns that come closest to `rows` of coefficients and sums.
pub(crate) fn solve(rows: &[(Vec<f64>, f64)], unknowns: usize) -> Vec<f64> {
    let mut gram = vec![vec![0.0; unknowns]; unknowns];
    let mut moments = vec![0.0; unknowns];
    for (coefficients, sum) in rows {
        for (i, a) in coefficients.iter().enumerate().filter(|(_, a)| **a != 0.0) {
            moments[i] += a * sum;
            for (j, b) in coefficients.iter().enumerate() {
                gram[i][j] += a * b;
            }
        }
    }
    let mut found = vec![0.0; unknowns];
    for _ in 0..ROUNDS {
        let mut moved: f64 = 0.0;
        for i in (0..unknowns).filter(|&i| gram[i][i] > 0.0) {
            let others: f64 = (0..unknowns).filter(|&j| j != i).map(|j| gram[i][j] * found[j]).sum();
            let best = ((moments[i] - others) / gram[i][i]).max(0.0);
            moved = moved.max((best - found[i]).abs());
            found[i] = best;
        }
        if moved < 1e-6 {
            break;
        }
    }
    found
}
